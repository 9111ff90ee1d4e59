"""What a session, a checkpoint and this computer allow, and the right shape of a query."""
