import pytest

from rheostat.errors import BadInput
from rheostat.repartition.spark_rewriter import require_spark


def test_an_older_spark_is_rejected_with_the_version_to_install():
    with pytest.raises(BadInput, match=r"PySpark 4\.2\.1 .* install PySpark 4\.3"):
        require_spark("4.2.1")
    require_spark("4.3.0")
    require_spark("5.0.0.dev1")
