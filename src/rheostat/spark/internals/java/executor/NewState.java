package rheostat;

import java.io.DataOutputStream;
import java.util.ArrayList;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.KeyValueChecksum;
import org.apache.spark.sql.execution.streaming.state.KeyValueChecksumEncoder;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.rocksdb.EnvOptions;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.SstFileWriter;
import scala.Option;

/**
 * Writes a new partition of a store, as the version after a batch.
 *
 * <p>For RocksDB, rows arrive in the order of their keys and are written to complete table files, which an empty Spark database ingests:
 * nothing is sorted, logged or compacted. Spark's own commit then writes the snapshot. For the HDFS-backed provider, rows are written to a
 * snapshot file, which it reads before any other file.
 */
public final class NewState {
    /** The size in bytes at which the next table file starts, as in RocksDB. */
    private static final long FILE_BYTES = 64L << 20;

    final Tally tally = new Tally();
    private final StateStores stores;
    private final int store;
    private final int partition;
    private final long batch;
    private final RocksDB like;
    private final Families families;
    private final ArrayList files = new ArrayList();
    private Scratch folder;
    private SstFileWriter writer;
    private long internal;
    private StateStoreProvider plain;
    private DataOutputStream file;
    private DataOutputStream stream;
    private boolean sums;

    /** ``like`` is any open store of the same kind, whose options apply to the table files; null for the HDFS-backed provider. */
    NewState(StateStores stores, int store, int partition, long batch, RocksDB like, Families families) throws Exception {
        this.stores = stores;
        this.store = store;
        this.partition = partition;
        this.batch = batch;
        this.like = like;
        this.families = families;
        if (!stores.rocks) {
            openFile();
        }
    }

    void add(byte[] key, byte[] value) throws Exception {
        add(key, value, Tally.hash(key, value));
    }

    /** Add a row with a known hash. */
    void add(byte[] key, byte[] value, long hash) throws Exception {
        tally.add(key.length + value.length, hash);
        if (stream != null) {
            byte[] kept = sums
                ? KeyValueChecksumEncoder.encodeSingleValueRowWithChecksum(value, KeyValueChecksum.create(key, Option.apply(value))) : value;
            stream.writeInt(key.length);
            stream.write(key);
            stream.writeInt(kept.length);
            stream.write(kept);
            return;
        }
        if (writer == null) {
            openTable();
        }
        writer.put(key, value);
        if (families.isInternal(families.idOf(key))) {
            internal++;
        }
        // Reading the size is a native call, so it is done only once in 4,096 rows.
        if ((tally.rows & 4095) == 0 && writer.fileSize() > FILE_BYTES) {
            closeTable();
        }
    }

    /** Write the version and return the id of its files, which is empty in checkpoint format 1. */
    String commit() throws Exception {
        if (stream != null) {
            stream.writeInt(-1);
            stream.close();
            file = null;
            plain.close();
            return "";
        }
        closeTable();
        StateStoreProvider provider = new OpenedState(stores, store, partition).provider();
        StateStore target = provider.getStore(batch, Option.empty(), false, true);
        try {
            RocksDB rocks = (RocksDB) Hidden.call(target, "dbInstance");
            LinkedFiles.giveTo(rocks);
            families.giveTo(rocks);
            if (!files.isEmpty()) {
                ((org.rocksdb.RocksDB) Hidden.call(rocks, "db")).ingestExternalFile(
                    files, new IngestExternalFileOptions().setMoveFiles(true));
            }
            if (rocks.conf().trackTotalNumberOfRows()) {
                Hidden.call(rocks, "numKeysOnWritingVersion_$eq", new Object[] {new Long(tally.rows - internal)});
                Hidden.call(rocks, "numInternalKeysOnWritingVersion_$eq", new Object[] {new Long(internal)});
            }
            target.commit();
            Option id = target.getStateStoreCheckpointInfo().stateStoreCkptId();
            return id.isDefined() ? (String) id.get() : "";
        } finally {
            if (!target.hasCommitted()) {
                target.abort();
            }
            provider.close();
            discard();
        }
    }

    /** Release the resources of an unfinished partition. */
    void discard() throws Exception {
        if (writer != null) {
            writer.close();
            writer = null;
        }
        if (file != null) {
            Hidden.call(file, "cancel");
            file = null;
            plain.close();
        }
        if (folder != null) {
            folder.delete();
            folder = null;
        }
    }

    private void openTable() throws Exception {
        if (folder == null) {
            folder = new Scratch();
        }
        String name = folder.file(files.size() + ".sst").getPath();
        files.add(name);
        writer = new SstFileWriter(new EnvOptions(), like.rocksDbOptions());
        writer.open(name);
    }

    private void closeTable() throws Exception {
        if (writer != null) {
            writer.finish();
            writer.close();
            writer = null;
        }
    }

    private void openFile() throws Exception {
        plain = new OpenedState(stores, store, partition).provider();
        HDFSBackedStateStoreProvider provider = (HDFSBackedStateStoreProvider) plain;
        CheckpointFileManager files = (CheckpointFileManager) Hidden.call(provider, "fm");
        Path name = (Path) Hidden.call(provider, "snapshotFile", new Object[] {new Long(batch + 1)});
        files.mkdirs(name.getParent());
        file = files.createAtomic(name, true);
        stream = (DataOutputStream) Hidden.call(provider, "compressStream", new Object[] {file});
        sums = ((StateStoreConf) Hidden.call(provider, "storeConf")).rowChecksumEnabled();
    }
}
