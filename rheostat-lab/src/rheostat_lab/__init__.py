"""The laboratory: what repeats the literature and measures Rheostat itself; not needed to run a job."""  # noqa: E501
