package rheostat;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.Random;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.rocksdb.RocksDB;

/**
 * The two ways of reading state for another number of partitions that are not taken, to be measured: every new partition reads everything
 * and filters, or looks up its own keys one by one in an index.
 *
 * <p>Its rows are a store, the old and the new number of partitions, and a new partition to filter for, or -1 - an old partition whose
 * keys are looked up. It tells the rows that were kept, the bytes that were read, seeks in the place of misplaced rows, and the bytes of
 * the index as the id.
 */
public final class ReadWays implements FlatMapFunction, Serializable {
    private final StateStores stores;

    public ReadWays(StateStores stores) {
        this.stores = stores;
    }

    public Iterator call(Object rows) throws Exception {
        ArrayList told = new ArrayList();
        Iterator parts = (Iterator) rows;
        while (parts.hasNext()) {
            int[] part = (int[]) parts.next();
            told.add(part[3] >= 0 ? filtered(part[0], part[1], part[2], part[3]) : lookedUp(part[0], -1 - part[3]));
        }
        return told.iterator();
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
        return stores.told("filtered", store, target, kept, "0");
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
                // A key, its length, and where its row is: eight bytes.
                index += state.key.length + 12;
            }
            // The keys of one new partition are scattered over the old one's files.
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
        return stores.told("looked-up", store, partition, kept, Long.toString(index));
    }
}
