package rheostat;

import java.io.Serializable;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/**
 * The stores of a checkpoint's operators and their version, as opened by Spark's own state reader.
 *
 * <p>This class is sent to executors. Janino compiles it in the driver: no lambdas, no type arguments.
 */
public final class StateStores implements Serializable {
    final String[] operators;
    final long[] numbers;
    final String[] names;
    final PartitionReaderFactory[] readers;
    final InputPartition[] samples;
    final Object[] ids;
    final boolean rocks;
    final int joinFormat;
    final long batch;

    /** The ids of a store are those of its operator, String[][]: partition -> store -> file name; null in checkpoint format 1. */
    public StateStores(
            String[] operators, long[] numbers, String[] names, PartitionReaderFactory[] readers, InputPartition[] samples, Object[] ids,
            boolean rocks, int joinFormat, long batch) {
        this.operators = operators;
        this.numbers = numbers;
        this.names = names;
        this.readers = readers;
        this.samples = samples;
        this.ids = ids;
        this.rocks = rocks;
        this.joinFormat = joinFormat;
        this.batch = batch;
    }

    /** One line of a task's report: kind, operator, store, partition, rows, checksum, bytes, misplaced rows, id. */
    String reportLine(String kind, int store, int partition, Tally tally, String id) {
        return kind + "\t" + numbers[store] + "\t" + names[store] + "\t" + partition + "\t" + tally.rows + "\t" + tally.checksum + "\t"
            + tally.bytes + "\t" + tally.misplaced + "\t" + id;
    }
}
