"""The running queries: last batch, running batch, rhythm and state stores."""
