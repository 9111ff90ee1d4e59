"""Test support for users: contracts of policies, guards and journals, and fakes of the ports."""
