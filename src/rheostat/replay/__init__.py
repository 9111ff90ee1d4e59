"""Feeds a recording to a policy: what it would have decided at each moment (teacher-forced)."""
