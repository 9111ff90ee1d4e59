package rheostat;

import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;

/** A tab of Spark's UI without pages: its address is redirected to the page of the autoscaler. */
public final class AutoscalerTab extends SparkUITab {
    public AutoscalerTab(SparkUI parent) {
        super(parent, "autoscaler");
    }
}
