package rheostat;

import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/**
 * The last finished batch of each of some queries, in one call.
 *
 * <p>The end of a batch is looked for many times a second; from Python each look would be three calls a query: for its progress, for the
 * number in it, and to let go of it. Janino compiles this in the driver: no type arguments.
 */
public final class LastBatches {
    private final List queries;

    public LastBatches(List queries) {
        this.queries = queries;
    }

    /** Returns the numbers in the order of the queries, separated by spaces; -1 for none. */
    public String numbers() {
        StringBuilder numbers = new StringBuilder();
        for (int at = 0; at < queries.size(); at++) {
            StreamingQueryProgress last = ((StreamingQuery) queries.get(at)).lastProgress();
            numbers.append(last == null ? -1L : last.batchId()).append(' ');
        }
        return numbers.toString();
    }
}
