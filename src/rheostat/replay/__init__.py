"""Replays a recording with a policy, deciding at each recorded moment (teacher-forced)."""
