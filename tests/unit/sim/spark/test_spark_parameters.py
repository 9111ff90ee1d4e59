"""The parameters of the Spark plant and its batch model."""

import dataclasses

from rheostat.sim.spark.spark_parameters import SparkParameters


def test_every_parameter_is_described_with_its_unit() -> None:
    for parameter in dataclasses.fields(SparkParameters):
        assert parameter.metadata["help"]
        assert parameter.metadata["unit"]


def test_without_state_partitions_the_model_has_one_stage() -> None:
    assert len(SparkParameters(state_partitions=0).model.stages) == 1
    assert len(SparkParameters().model.stages) == 2
