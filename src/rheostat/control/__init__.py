"""The HTTP control API of a driver, and the page that shows a job from its journal."""
