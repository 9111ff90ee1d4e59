"""Options and arguments that several commands accept, each defined once."""
