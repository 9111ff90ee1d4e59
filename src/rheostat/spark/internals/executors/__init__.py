"""The executors in the driver's view: requests, removal, reachability and pods."""
