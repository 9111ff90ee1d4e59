"""Where an application's journal is, and the kill switches that are looked for beside it."""
