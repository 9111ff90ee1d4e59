package rheostat;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import org.apache.spark.api.java.function.FlatMapFunction;

/** Counts the rows of store partitions: takes pairs of store and partition, and returns one line for each. */
public final class MeasureState implements FlatMapFunction, Serializable {
    private final StateStores stores;
    private final int partitions;

    public MeasureState(StateStores stores, int partitions) {
        this.stores = stores;
        this.partitions = partitions;
    }

    public Iterator call(Object rows) throws Exception {
        ArrayList report = new ArrayList();
        Iterator parts = (Iterator) rows;
        while (parts.hasNext()) {
            int[] part = (int[]) parts.next();
            report.add(stores.reportLine("counted", part[0], part[1], measured(part[0], part[1]), ""));
        }
        return report.iterator();
    }

    private Tally measured(int store, int partition) throws Exception {
        Tally tally = new Tally();
        OpenedState state = new OpenedState(stores, store, partition);
        try {
            state.load();
            while (state.next()) {
                tally.add(state.key, state.value());
                if (OpenedState.home(state.hash(), partitions) != partition) {
                    tally.misplaced++;
                }
            }
        } finally {
            state.close();
        }
        return tally;
    }
}
