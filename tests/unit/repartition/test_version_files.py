from rheostat.repartition.checkpoint import operator_metadata


def test_operator_metadata_gets_the_new_partition_count_in_every_store():
    text = 'v2\n{"a":1,"stateStoreInfo":[{"storeName":"s","numPartitions":4}]}'
    assert operator_metadata(text, 7) == text.replace("4", "7")
