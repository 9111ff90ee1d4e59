"""The driver's half of an operator: how an application is sized, told and asked over HTTP."""
