package rheostat;

import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.execution.datasources.v2.state.StateSourceOptions;
import org.apache.spark.sql.execution.datasources.v2.state.StateStoreInputPartition;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatePartitionKeyExtractorFactory;
import org.apache.spark.sql.execution.streaming.state.DropLastNFieldsStatePartitionKeyExtractor;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBKeyStateEncoder;
import org.apache.spark.sql.execution.streaming.state.StatePartitionKeyExtractor;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksIterator;
import org.rocksdb.VectorMemTableConfig;
import scala.Option;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.immutable.Map;

/**
 * A partition of a store, opened by Spark's own state reader: its rows byte for byte, and the partitions that their hashes require. Rows of
 * RocksDB arrive in the order of their keys.
 */
public final class OpenedState {
    private static final String JOIN = "symmetricHashJoin";
    private static final int TIMED_JOIN = 4;

    /** The key of the row. */
    byte[] key;

    final int partition;
    private final StateStores stores;
    private final int store;
    private final Object reader;
    private boolean opened;
    private RocksDB rocks;
    private Families families;
    private RocksIterator raw;
    private boolean begun;
    private byte[] plainValue;
    private Iterator pairs;
    private UnsafeRow row;
    private RocksDBKeyStateEncoder[] encoders;
    private StatePartitionKeyExtractor[] extractors;
    private UnsafeProjection[] hashes;

    OpenedState(StateStores stores, int store, int partition) throws Exception {
        this.stores = stores;
        this.store = store;
        this.partition = partition;
        StateStoreInputPartition sample = (StateStoreInputPartition) stores.samples[store];
        StateSourceOptions options = sample.sourceOptions();
        Hidden.set(options, "batchId", new Long(stores.batch));
        if (stores.ids[store] != null) {
            Hidden.set(options, "startOperatorStateUniqueIds", Option.apply(stores.ids[store]));
            Hidden.set(options, "endOperatorStateUniqueIds", Option.apply(stores.ids[store]));
        }
        reader = stores.readers[store].createReader(new StateStoreInputPartition(partition, UUID.randomUUID(), options));
    }

    /** The provider of the partition; nothing is loaded. */
    StateStoreProvider provider() throws Exception {
        return (StateStoreProvider) Hidden.call(reader, "provider");
    }

    /** Load the version and position the reader before its first row. */
    OpenedState load() throws Exception {
        if (stores.rocks) {
            prepareLoad((RocksDB) Hidden.call(provider(), "rocksDB"));
        }
        ReadStateStore store = (ReadStateStore) Hidden.call(reader, "store");
        opened = true;
        if (stores.rocks) {
            rocks = (RocksDB) Hidden.call(store, "dbInstance");
            families = Families.of(rocks);
            raw = ((org.rocksdb.RocksDB) Hidden.call(rocks, "db")).newIterator(
                new ReadOptions().setFillCache(false).setReadaheadSize(2L << 20));
            raw.seekToFirst();
            prepareRocks();
        } else {
            pairs = store.iterator("default");
            extractors = new StatePartitionKeyExtractor[] {plainExtractor()};
            hashes = new UnsafeProjection[] {hashOf(extractors[0].partitionKeySchema())};
        }
        return this;
    }

    /** Optimize the store for a single read of all rows. */
    private static void prepareLoad(RocksDB rocks) throws Exception {
        LinkedFiles.giveTo(rocks);
        // Otherwise Spark looks up every row of a changelog before adding it, only to count rows.
        Hidden.set(rocks.conf(), "trackTotalNumberOfRows", Boolean.FALSE);
        // Rows of a changelog are sorted once at the end, not one by one.
        rocks.rocksDbOptions().setMemTableConfig(new VectorMemTableConfig()).setAllowConcurrentMemtableWrite(false);
    }

    RocksDB rocks() {
        return rocks;
    }

    Families families() {
        return families;
    }

    /** Advance to the next row; false at the end. */
    boolean next() {
        if (raw != null) {
            if (begun) {
                raw.next();
            }
            begun = true;
            if (!raw.isValid()) {
                return false;
            }
            key = raw.key();
            return true;
        }
        if (!pairs.hasNext()) {
            return false;
        }
        UnsafeRowPair pair = (UnsafeRowPair) pairs.next();
        row = pair.key();
        key = row.getBytes();
        plainValue = pair.value().getBytes();
        return true;
    }

    /** The value of the row; read it once and only if needed, because RocksDB copies it. */
    byte[] value() {
        return raw == null ? plainValue : raw.value();
    }

    /** The hash of the row's partition key, as a shuffle computes it; 0 for a store without a key, which uses partition 0 only. */
    int hash() {
        int family = families == null ? 0 : families.idOf(key);
        if (hashes[family] == null) {
            return 0;
        }
        UnsafeRow whole = raw == null ? row : encoders[family].decodeKey(families.withoutPrefix(key));
        InternalRow parted = extractors[family].partitionKey(whole);
        return hashes[family].apply(parted).getInt(0);
    }

    static int home(int hash, int partitions) {
        return Math.floorMod(hash, partitions);
    }

    void close() throws Exception {
        if (raw != null) {
            raw.close();
        }
        if (opened) {
            Hidden.call(reader, "close");
        } else {
            provider().close();
        }
    }

    private void prepareRocks() throws Exception {
        int most = families.most() + 1;
        encoders = new RocksDBKeyStateEncoder[most];
        extractors = new StatePartitionKeyExtractor[most];
        hashes = new UnsafeProjection[most];
        Map known = (Map) Hidden.call(reader, "cfPartitionKeyExtractors");
        java.util.Map coders = (java.util.Map) Hidden.call(provider(), "keyValueEncoderMap");
        for (Iterator names = known.keysIterator(); names.hasNext();) {
            String name = (String) names.next();
            int id = families.id(name);
            Tuple3 coder = (Tuple3) coders.get(name);
            if (id >= 0 && coder != null) {
                encoders[id] = (RocksDBKeyStateEncoder) coder._1();
                extractors[id] = withoutTime((StatePartitionKeyExtractor) known.apply(name));
                hashes[id] = hashOf(extractors[id].partitionKeySchema());
            }
        }
    }

    /**
     * The keys of a join in format 4 end in a time, which is not part of the hash that distributed its input. Spark 4.3's own function uses
     * the complete key and would assign most rows to a wrong partition.
     */
    private StatePartitionKeyExtractor withoutTime(StatePartitionKeyExtractor given) {
        if (!stores.operators[store].equals(JOIN) || stores.joinFormat != TIMED_JOIN) {
            return given;
        }
        return new DropLastNFieldsStatePartitionKeyExtractor(given.partitionKeySchema(), 1);
    }

    private StatePartitionKeyExtractor plainExtractor() throws Exception {
        StructType keys = (StructType) Hidden.call(reader, "keySchema");
        return StatePartitionKeyExtractorFactory.create(
            stores.operators[store], keys, stores.names[store], "default", Option.apply(new Integer(stores.joinFormat)), Option.empty());
    }

    private static UnsafeProjection hashOf(StructType keys) {
        StructField[] fields = keys.fields();
        if (fields.length == 0) {
            return null;
        }
        java.util.ArrayList columns = new java.util.ArrayList();
        for (int i = 0; i < fields.length; i++) {
            columns.add(new BoundReference(i, fields[i].dataType(), fields[i].nullable()));
        }
        HashPartitioning partitioning = new HashPartitioning(seq(columns), 1);
        return UnsafeProjection.create((Expression) partitioning.partitionIdExpression().children().head());
    }

    private static scala.collection.immutable.Seq seq(java.util.List items) {
        return scala.jdk.javaapi.CollectionConverters.asScala(items).toList();
    }
}
