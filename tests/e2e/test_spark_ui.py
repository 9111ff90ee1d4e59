"""The tab in Spark's UI, with a session in a separate process."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

PROGRAM = """
import urllib.error, urllib.request
from pyspark.sql import SparkSession
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.spark_ui import SparkUi

class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None

builder = SparkSession.builder.master("local[1]").config("spark.driver.bindAddress", "127.0.0.1")
for enabled in ("true", "false"):
    spark = builder.config("spark.ui.enabled", enabled).getOrCreate()
    gateway = Gateway(spark)
    linked = SparkUi(gateway, CompiledClasses(gateway)).link("http://127.0.0.1:8085/")
    print("linked", linked)
    if linked:
        ui = spark.sparkContext.uiWebUrl
        print("tab", ">Autoscaler<" in urllib.request.urlopen(ui + "/environment/").read().decode())
        try:
            urllib.request.build_opener(NoRedirect).open(ui + "/autoscaler/")
        except urllib.error.HTTPError as answer:
            print(answer.code, answer.headers["Location"])
    spark.stop()
"""


def test_the_tab_links_to_the_page_and_is_omitted_without_a_ui() -> None:
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ended.stdout.splitlines() == [
        "linked True",
        "tab True",
        "302 http://127.0.0.1:8085/",
        "linked False",
    ], ended.stderr[-2000:]
