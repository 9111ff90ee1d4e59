package rheostat;

import java.time.Duration;
import java.util.Collections;
import java.util.TreeMap;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.Tuple2;
import scala.collection.Iterator;

/** A value, a list and a map of Scala's transformWithState; the map lives for a day. Its rows are "KEY SIDE". */
public final class KeptVariables extends StatefulProcessor implements MapFunction {
    private transient ValueState seen;
    private transient ListState sides;
    private transient MapState bySide;

    /** The first word of a row. */
    public Object call(Object row) throws Exception {
        return ((String) row).split(" ")[0];
    }

    public void init(OutputMode mode, TimeMode time) {
        seen = getHandle().getValueState("seen", Encoders.LONG(), TTLConfig.NONE());
        sides = getHandle().getListState("sides", Encoders.STRING(), TTLConfig.NONE());
        bySide = getHandle().getMapState("bySide", Encoders.STRING(), Encoders.LONG(), new TTLConfig(Duration.ofDays(1)));
    }

    public Iterator handleInputRows(Object key, Iterator rows, TimerValues timers) {
        long count = seen.exists() ? ((Long) seen.get()).longValue() : 0L;
        while (rows.hasNext()) {
            String side = ((String) rows.next()).split(" ")[1];
            long known = bySide.containsKey(side) ? ((Long) bySide.getValue(side)).longValue() : 0L;
            bySide.updateValue(side, new Long(known + 1));
            sides.appendValue(side);
            count++;
        }
        seen.update(new Long(count));
        TreeMap told = new TreeMap();
        for (Iterator each = bySide.iterator(); each.hasNext();) {
            Tuple2 one = (Tuple2) each.next();
            told.put(one._1(), one._2());
        }
        int listed = 0;
        for (Iterator each = sides.get(); each.hasNext(); each.next()) {
            listed++;
        }
        Object line = key + " " + count + " " + listed + " " + told;
        return scala.jdk.javaapi.CollectionConverters.asScala(Collections.singletonList(line).iterator());
    }
}
