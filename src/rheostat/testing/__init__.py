"""For users' tests: contracts of policies, guards and journals, and fakes of the ports."""
