"""The REST interface of the driver's UI, which is public: executors and stages."""
