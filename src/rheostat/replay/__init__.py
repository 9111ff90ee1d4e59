"""A recording read, mapped to observations and fed to a policy: what it would have said at each
moment (teacher-forced).
"""
