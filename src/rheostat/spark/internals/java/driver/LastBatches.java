package rheostat;

import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/**
 * Returns the last finished batch of several queries in one call.
 *
 * <p>The end of a batch is polled many times per second; from Python each poll would take three calls per query: for its progress, for the
 * batch number, and to release the object. Janino compiles this in the driver: no type arguments.
 */
public final class LastBatches {
    private final List queries;

    public LastBatches(List queries) {
        this.queries = queries;
    }

    /** Return the batch numbers in the order of the queries, separated by spaces; -1 for none. */
    public String numbers() {
        StringBuilder numbers = new StringBuilder();
        for (int at = 0; at < queries.size(); at++) {
            StreamingQueryProgress last = ((StreamingQuery) queries.get(at)).lastProgress();
            numbers.append(last == null ? -1L : last.batchId()).append(' ');
        }
        return numbers.toString();
    }
}
