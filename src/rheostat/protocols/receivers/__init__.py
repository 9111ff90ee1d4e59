"""The change of size where receivers run: who may go, and where receivers move."""
