"""For users' own tests: contracts that every policy, guard and journal keeps, and small fakes of
the ports.
"""
