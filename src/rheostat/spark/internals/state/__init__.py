"""Where state is, how it is sent elsewhere, loaded and read, and how it is written anew."""
