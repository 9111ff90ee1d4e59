"""Options and arguments that several commands take, each said once."""
