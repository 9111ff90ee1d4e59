package rheostat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.apache.spark.api.java.function.PairFlatMapFunction;
import scala.Tuple2;

/**
 * Splits old partitions into one run of rows per new partition, for a shuffle of a few large pieces instead of rows. Runs of RocksDB are
 * sorted by key.
 *
 * <p>Takes a store, its old and new number of partitions, and the old partition. Returns pairs of (store x partitions + new partition) and
 * a piece: the old partition, its number in the run, then rows. Piece -1 contains the families instead. The last key has the report lines
 * about the rows read.
 */
public final class SplitState implements PairFlatMapFunction, Serializable {
    /** The maximum total size of a task's unfinished pieces, which are kept in memory. */
    private static final int MEMORY_BYTES = 64 << 20;
    private static final int PIECE_BYTES = 4 << 20;

    private final StateStores stores;
    private final int last;

    public SplitState(StateStores stores, int last) {
        this.stores = stores;
        this.last = last;
    }

    public Iterator call(Object rows) throws Exception {
        int[] part = (int[]) rows;
        return new Pieces(stores, part[0], part[1], part[2], part[3], last, Math.min(PIECE_BYTES, MEMORY_BYTES / part[2]));
    }

    /** The pieces of one old partition, created on demand. */
    static final class Pieces implements Iterator {
        private final StateStores stores;
        private final int store;
        private final int from;
        private final int to;
        private final int last;
        private final int most;
        private final OpenedState source;
        private final Tally read = new Tally();
        private final ByteArrayOutputStream[] runs;
        private final DataOutputStream[] outputs;
        private final int[] numbers;
        private final ArrayDeque ready = new ArrayDeque();
        private boolean ended;

        Pieces(StateStores stores, int store, int from, int to, int partition, int last, int most) throws Exception {
            this.stores = stores;
            this.store = store;
            this.from = from;
            this.to = to;
            this.last = last;
            this.most = most;
            this.runs = new ByteArrayOutputStream[to];
            this.outputs = new DataOutputStream[to];
            this.numbers = new int[to];
            this.source = new OpenedState(stores, store, partition).load();
            if (source.families() != null) {
                byte[] families = source.families().toString().getBytes("UTF-8");
                for (int target = 0; target < to; target++) {
                    start(target, -1);
                    outputs[target].write(families);
                    finish(target);
                }
            }
            for (int target = 0; target < to; target++) {
                start(target, 0);
            }
        }

        public boolean hasNext() {
            try {
                while (ready.isEmpty() && !ended) {
                    step();
                }
                return !ready.isEmpty();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }

        public Object next() {
            return ready.poll();
        }

        private void step() throws Exception {
            if (source.next()) {
                int target = RewriteState.place(source, from, to);
                byte[] value = source.value();
                read.add(source.key, value);
                DataOutputStream output = outputs[target];
                output.writeInt(source.key.length);
                output.write(source.key);
                output.writeInt(value.length);
                output.write(value);
                if (runs[target].size() > most) {
                    finish(target);
                    start(target, numbers[target] + 1);
                }
                return;
            }
            ended = true;
            source.close();
            for (int target = 0; target < to; target++) {
                finish(target);
            }
            String line = stores.reportLine("read", store, source.partition, read, "");
            ready.add(new Tuple2(new Integer(last), line.getBytes("UTF-8")));
        }

        private void start(int target, int number) throws Exception {
            numbers[target] = number;
            runs[target] = new ByteArrayOutputStream();
            outputs[target] = new DataOutputStream(runs[target]);
            outputs[target].writeInt(source.partition);
            outputs[target].writeInt(number);
        }

        private void finish(int target) throws Exception {
            outputs[target].flush();
            if (runs[target].size() > 8) {
                ready.add(new Tuple2(new Integer(store * to + target), runs[target].toByteArray()));
            }
        }

        public void remove() {
            throw new UnsupportedOperationException();
        }
    }
}
