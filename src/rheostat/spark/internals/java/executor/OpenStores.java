package rheostat;

import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.Iterator;
import java.util.UUID;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.execution.streaming.operators.stateful.join.SymmetricHashJoinStateManager$;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.Option;

/**
 * Opens the state stores of an operator's partitions for reading, as the tasks of the next batch will open them for writing.
 *
 * <p>Takes partition numbers. At the end of the task Spark releases the stores but keeps them open, and the coordinator knows their
 * locations. Janino compiles this in the driver: no lambdas, no type arguments.
 */
public final class OpenStores implements FlatMapFunction, Serializable {
    private final String location;
    private final UUID run;
    private final long operator;
    private final long version;
    private final Option ids;
    private final String[] names;
    private final StructType[] keys;
    private final StructType[] values;
    private final KeyStateEncoderSpec[] encoders;
    private final Option schemas;
    private final boolean families;
    private final boolean multiple;
    private final StateStoreConf conf;
    private final SerializableConfiguration hadoop;

    public OpenStores(
            String location, UUID run, long operator, long version, Option ids, String[] names, StructType[] keys, StructType[] values,
            KeyStateEncoderSpec[] encoders, Option schemas, boolean families, boolean multiple, StateStoreConf conf,
            SerializableConfiguration hadoop) {
        this.location = location;
        this.run = run;
        this.operator = operator;
        this.version = version;
        this.ids = ids;
        this.names = names;
        this.keys = keys;
        this.values = values;
        this.encoders = encoders;
        this.schemas = schemas;
        this.families = families;
        this.multiple = multiple;
        this.conf = conf;
        this.hadoop = hadoop;
    }

    public Iterator call(Object rows) {
        Iterator partitions = (Iterator) rows;
        while (partitions.hasNext()) {
            open(((Number) partitions.next()).intValue());
        }
        maintain();
        return Collections.emptyIterator();
    }

    /**
     * Run Spark's maintenance of the executor's stores now instead of at its interval. The first run of a store takes longest: it reads
     * every retained snapshot to determine the files in use. During the pause it delays no batch.
     */
    private static void maintain() {
        if (!StateStore$.MODULE$.isMaintenanceRunning()) {
            return;
        }
        try {
            Method maintenance = StateStore$.class.getDeclaredMethod("doMaintenance", new Class[0]);
            maintenance.setAccessible(true);
            maintenance.invoke(StateStore$.MODULE$, new Object[0]);
        } catch (Exception absent) {
            // Spark runs it at its interval.
        }
    }

    private void open(int partition) {
        for (int i = 0; i < names.length; i++) {
            StateStoreId store = new StateStoreId(location, operator, partition, names[i]);
            Option id = SymmetricHashJoinStateManager$.MODULE$.getStateStoreCheckpointId(names[i], partition, ids, families);
            StateStore$.MODULE$.getReadOnly(
                new StateStoreProviderId(store, run), keys[i], values[i], encoders[i], version, id, schemas, families, conf,
                hadoop.value(), multiple);
        }
    }
}
