"""Options and arguments that several commands take, each defined once."""
