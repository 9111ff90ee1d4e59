package rheostat;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import scala.Tuple2;

/** Writes new partitions from the pieces of the old ones by ``SplitState``: the task's number is the new partition. */
public final class MergeState implements Function2, Serializable {
    private final StateStores stores;
    private final long batch;
    private final int partitions;
    private final int last;

    public MergeState(StateStores stores, long batch, int partitions, int last) {
        this.stores = stores;
        this.batch = batch;
        this.partitions = partitions;
        this.last = last;
    }

    public Object call(Object task, Object pieces) throws Exception {
        int number = ((Integer) task).intValue();
        ArrayList report = new ArrayList();
        if (number == last) {
            for (Iterator each = (Iterator) pieces; each.hasNext();) {
                report.add(new String((byte[]) ((Tuple2) each.next())._2(), "UTF-8"));
            }
        } else {
            report.add(written(number / partitions, number % partitions, (Iterator) pieces));
        }
        return report.iterator();
    }

    private String written(int store, int partition, Iterator pieces) throws Exception {
        Runs runs = new Runs();
        StateStoreProvider sample = null;
        NewState target = null;
        try {
            while (pieces.hasNext()) {
                runs.take((byte[]) ((Tuple2) pieces.next())._2());
            }
            RocksDB like = null;
            if (stores.rocks) {
                sample = new OpenedState(stores, store, partition).provider();
                like = (RocksDB) Hidden.call(sample, "rocksDB");
            }
            target = new NewState(stores, store, partition, batch, like, runs.families);
            runs.merge();
            for (Runs.Run row = runs.next(); row != null; row = runs.next()) {
                target.add(row.key, row.value);
            }
            return stores.reportLine("written", store, partition, target.tally, target.commit());
        } finally {
            if (target != null) {
                target.discard();
            }
            if (sample != null) {
                sample.close();
            }
            runs.discard();
        }
    }
}
