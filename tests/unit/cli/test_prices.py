# mypy: disallow-untyped-calls=False
import pytest

from rheostat.cli.recordings.prices import Prices, read_prices
from rheostat.errors import BadInput

HEAD = "instance_type,price_per_hour,slots\n"


def test_an_unlisted_type_has_the_default_price(tmp_path):
    file = tmp_path / "prices.csv"
    file.write_text(HEAD + "m5.xlarge,0.192,4\ndefault,0.5,10\n")
    prices = read_prices(file)
    assert prices.of("m5.xlarge") == pytest.approx(0.048)
    assert prices.of("c5.large") == prices.of(None) == pytest.approx(0.05)


def test_without_a_default_row_the_configured_price_applies(tmp_path):
    file = tmp_path / "prices.csv"
    file.write_text(HEAD + "m5.xlarge,0.192,4\n")
    assert read_prices(file, 0.1).of("c5.large") == 0.1
    assert read_prices(file).of(None) is None
    assert Prices(0.2).of("any") == 0.2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "need the columns instance_type,price_per_hour,slots"),
        ("type,price\nm5,1\n", "need the columns"),
        (HEAD + "m5,-1,4\n", "line 2: price_per_hour must be 0 or more"),
        (HEAD + "m5,1,0\n", "slots above 0"),
        (HEAD + "m5,1,4\nc5,nan,4\n", "line 3"),
        (HEAD + "m5,1\n", "line 2"),
    ],
)
def test_an_invalid_table_is_rejected_in_one_line(tmp_path, text, message):
    file = tmp_path / "prices.csv"
    file.write_text(text)
    with pytest.raises(BadInput, match=message) as caught:
        read_prices(file)
    assert "\n" not in str(caught.value)


def test_a_missing_table_is_rejected(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_prices(tmp_path / "none.csv")
