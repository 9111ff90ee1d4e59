"""The location of an application's journal, and the kill switches."""
