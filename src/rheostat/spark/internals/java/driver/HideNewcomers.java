package rheostat;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerMaster;
import scala.collection.immutable.Nil$;

/**
 * Hides every new executor from the Kafka source at its registration, before a batch that prefers it can be planned.
 *
 * <p>From the first rescale on, all other executors are hidden permanently. A new one would be the only executor that the source prefers,
 * for all of its partitions, and their tasks would wait for it while other slots are free. Polling from Python ten times per second is
 * sometimes too late for the next batch. Janino compiles this in the driver: no type arguments.
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
