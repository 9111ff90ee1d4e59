package rheostat;

import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.api.java.function.FlatMapGroupsWithStateFunction;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.GroupState;

/** Counts the rows of a key in a state of Scala's flatMapGroupsWithState, which Python has not. */
public final class SeenState implements FlatMapGroupsWithStateFunction, MapFunction, Serializable {
    public Object call(Object row) throws Exception {
        return ((Row) row).getString(0);
    }

    public Iterator call(Object key, Iterator rows, GroupState state) throws Exception {
        long seen = state.exists() ? ((Long) state.get()).longValue() : 0L;
        for (; rows.hasNext(); rows.next()) {
            seen++;
        }
        state.update(new Long(seen));
        return Collections.singletonList(key + " " + seen).iterator();
    }
}
