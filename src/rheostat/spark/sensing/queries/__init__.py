"""The running queries: their last batch, the batch that runs now, their rhythm and their stores."""
