package rheostat;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerMaster;
import scala.collection.immutable.Nil$;

/**
 * Hides every executor that comes from the Kafka source, before a batch can be planned that prefers it.
 *
 * <p>From the first change of size on all others are hidden, for good: one that has just come is then the only one that the source
 * prefers, for all of its partitions, and its tasks wait for it while the slots of the others are free. A look from Python, ten times
 * a second, is now and then too late for the next batch. Janino compiles this in the driver: no type arguments.
 */
public final class HideNewcomers extends SparkListener {
    private final BlockManagerMaster master;

    public HideNewcomers(BlockManagerMaster master) {
        this.master = master;
    }

    public void onBlockManagerAdded(SparkListenerBlockManagerAdded added) {
        BlockManagerId newcomer = added.blockManagerId();
        if (!newcomer.isDriver()) {
            master.decommissionBlockManagers(Nil$.MODULE$.$colon$colon(newcomer.executorId()));
        }
    }
}
