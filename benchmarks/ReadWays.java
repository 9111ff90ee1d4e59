package rheostat;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.Random;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.rocksdb.RocksDB;

/**
 * Measures the two unused methods of reading state for another number of partitions: every new partition either reads and filters all rows,
 * or looks up its own keys one by one in an index.
 *
 * <p>Takes a store, the old and the new number of partitions, and a new partition to filter for, or -1 - an old partition whose keys are
 * looked up. Reports the number of kept rows, the bytes read, seeks instead of misplaced rows, and the size of the index as the id.
 */
public final class ReadWays implements FlatMapFunction, Serializable {
    private final StateStores stores;

    public ReadWays(StateStores stores) {
        this.stores = stores;
    }

    public Iterator call(Object rows) throws Exception {
        ArrayList report = new ArrayList();
        Iterator parts = (Iterator) rows;
        while (parts.hasNext()) {
            int[] part = (int[]) parts.next();
            report.add(part[3] >= 0 ? filtered(part[0], part[1], part[2], part[3]) : lookedUp(part[0], -1 - part[3]));
        }
        return report.iterator();
    }

    private String filtered(int store, int from, int to, int target) throws Exception {
        Tally kept = new Tally();
        long bytes = 0;
        for (int partition = 0; partition < from; partition++) {
            OpenedState state = new OpenedState(stores, store, partition);
            try {
                state.load();
                kept.misplaced++;
                while (state.next()) {
                    byte[] value = state.value();
                    bytes += state.key.length + value.length;
                    if (OpenedState.home(state.hash(), to) == target) {
                        kept.add(state.key, value);
                    }
                }
            } finally {
                state.close();
            }
        }
        kept.bytes = bytes;
        return stores.reportLine("filtered", store, target, kept, "0");
    }

    private String lookedUp(int store, int partition) throws Exception {
        Tally kept = new Tally();
        long index = 0;
        OpenedState state = new OpenedState(stores, store, partition);
        try {
            state.load();
            ArrayList keys = new ArrayList();
            while (state.next()) {
                keys.add(state.key);
                // A key, its length, and the location of its row in eight bytes.
                index += state.key.length + 12;
            }
            // The keys of a new partition are scattered over the files of the old one.
            Collections.shuffle(keys, new Random(partition));
            RocksDB database = (RocksDB) Hidden.call(state.rocks(), "db");
            for (int i = 0; i < keys.size(); i++) {
                byte[] key = (byte[]) keys.get(i);
                kept.add(key, database.get(key));
                kept.misplaced++;
            }
        } finally {
            state.close();
        }
        return stores.reportLine("looked-up", store, partition, kept, Long.toString(index));
    }
}
