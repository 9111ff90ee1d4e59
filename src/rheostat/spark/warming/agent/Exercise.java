package rheostat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Checkpoint;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;
import org.rocksdb.Statistics;
import org.rocksdb.WriteOptions;

/**
 * Uses the libraries below Spark as the first tasks will: native code is loaded, classes are initialised, hot methods are compiled. Of
 * Spark only Catalyst is used, which needs no SparkEnv, and its only effect is a warm JVM.
 */
final class Exercise {
    private static final int ROWS = 2000;

    private Exercise() {}

    private interface Part {
        void run(Path folder) throws Exception;
    }

    /** Run the named parts; return the failures, empty without any. A missing library is not a failure. */
    static String run(List<String> names) throws Exception {
        Path folder = Files.createTempDirectory("warm-start");
        StringBuilder failed = new StringBuilder();
        Map<String, Part> parts = Map.of("rocksdb", Exercise::store, "files", Exercise::files, "compression", Exercise::compress,
            "kafka", Exercise::consume, "codegen", Exercise::generate, "json", Exercise::describe);
        try {
            for (String name : names) {
                try {
                    parts.get(name).run(folder);
                } catch (ClassNotFoundException | NoClassDefFoundError absent) {
                    continue;
                } catch (Throwable fault) {
                    failed.append(name).append(": ").append(fault).append(' ');
                }
            }
        } finally {
            remove(folder);
        }
        return failed.toString();
    }

    /** The lifecycle of a state store: written, flushed, checkpointed, zipped, unzipped, reopened, read. */
    private static void store(Path folder) throws Exception {
        RocksDB.loadLibrary();
        Path kept = folder.resolve("kept");
        try (Options options = options(); RocksDB db = RocksDB.open(options, folder.resolve("db").toString());
                WriteOptions quick = new WriteOptions().setDisableWAL(true); FlushOptions wait = new FlushOptions()) {
            for (int i = 0; i < ROWS; i++) {
                byte[] key = ("key" + i % (ROWS / 2)).getBytes(StandardCharsets.UTF_8);
                db.get(key);
                db.put(quick, key, new byte[64]);
            }
            db.flush(wait.setWaitForFlush(true));
            try (Checkpoint checkpoint = Checkpoint.create(db)) {
                checkpoint.createCheckpoint(kept.toString());
            }
            db.getProperty("rocksdb.stats");
        }
        Path restored = Files.createDirectory(folder.resolve("restored"));
        unzip(zip(kept), restored);
        try (Options options = options(); RocksDB db = RocksDB.open(options, restored.toString()); RocksIterator rows = db.newIterator()) {
            for (rows.seekToFirst(); rows.isValid(); rows.next()) {
                rows.key();
                rows.value();
            }
        }
    }

    private static Options options() {
        BlockBasedTableConfig table = new BlockBasedTableConfig().setBlockCache(new LRUCache(8 << 20)).setFilterPolicy(new BloomFilter(10));
        return new Options().setCreateIfMissing(true).setTableFormatConfig(table).setStatistics(new Statistics());
    }

    private static byte[] zip(Path folder) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes); Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                zip.putNextEntry(new ZipEntry(file.getFileName().toString()));
                Files.copy(file, zip);
                zip.closeEntry();
            }
        }
        return bytes.toByteArray();
    }

    private static void unzip(byte[] bytes, Path folder) throws Exception {
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bytes))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Files.copy(zip, folder.resolve(entry.getName()));
            }
        }
    }

    /** Hadoop's local file system: write, list, rename, read. A separate instance, so that no cache keeps its settings. */
    private static void files(Path folder) throws Exception {
        try (FileSystem system = FileSystem.newInstance(folder.toUri(), new Configuration())) {
            var file = new org.apache.hadoop.fs.Path(folder.resolve("a.delta").toUri());
            var moved = new org.apache.hadoop.fs.Path(folder.resolve("b.delta").toUri());
            try (var out = system.create(file, true)) {
                out.write(new byte[10_000]);
            }
            system.rename(file, moved);
            system.listStatus(moved.getParent());
            try (var in = system.open(moved)) {
                in.readFully(new byte[10_000]);
            }
        }
    }

    /** LZ4 for the shuffle, Zstandard for the changelog. */
    private static void compress(Path folder) throws Exception {
        byte[] bytes = new byte[100_000];
        ByteArrayOutputStream lz4 = new ByteArrayOutputStream();
        try (var out = new net.jpountz.lz4.LZ4BlockOutputStream(lz4)) {
            out.write(bytes);
        }
        try (var in = new net.jpountz.lz4.LZ4BlockInputStream(new ByteArrayInputStream(lz4.toByteArray()))) {
            in.readNBytes(bytes.length);
        }
        ByteArrayOutputStream zstd = new ByteArrayOutputStream();
        try (var out = new com.github.luben.zstd.ZstdOutputStreamNoFinalizer(zstd)) {
            out.write(bytes);
        }
        try (var in = new com.github.luben.zstd.ZstdInputStreamNoFinalizer(new ByteArrayInputStream(zstd.toByteArray()))) {
            in.readNBytes(bytes.length);
        }
    }

    /** A consumer, by name, because not every application has Kafka's classes; it polls a port without a listener for 50 ms. */
    private static void consume(Path folder) throws Exception {
        Class<?> consumer = Class.forName("org.apache.kafka.clients.consumer.KafkaConsumer");
        Class<?> partition = Class.forName("org.apache.kafka.common.TopicPartition");
        String bytes = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        Map<String, Object> settings = Map.of("bootstrap.servers", "127.0.0.1:9", "key.deserializer", bytes, "value.deserializer", bytes,
            "group.id", "warm-start", "enable.auto.commit", "false", "auto.offset.reset", "none");
        Object open = consumer.getConstructor(Map.class).newInstance(settings);
        try {
            Object one = partition.getConstructor(String.class, int.class).newInstance("warm-start", 0);
            consumer.getMethod("assign", java.util.Collection.class).invoke(open, List.of(one));
            consumer.getMethod("seek", partition, long.class).invoke(open, one, 0L);
            consumer.getMethod("poll", Duration.class).invoke(open, Duration.ofMillis(50));
        } finally {
            consumer.getMethod("close", Duration.class).invoke(open, Duration.ZERO);
        }
    }

    /** Catalyst's code generator: projections of increasing numbers of columns, compiled by Janino and used once. */
    private static void generate(Path folder) {
        StructField[] columns = new StructType().add("key", DataTypes.BinaryType).add("value", DataTypes.StringType)
            .add("partition", DataTypes.IntegerType).add("offset", DataTypes.LongType).add("timestamp", DataTypes.TimestampType)
            .add("price", DataTypes.DoubleType).add("valid", DataTypes.BooleanType)
            .add("window", new StructType().add("start", DataTypes.TimestampType).add("end", DataTypes.TimestampType)).fields();
        for (int n = 1; n <= columns.length; n++) {
            UnsafeProjection.create(new StructType(Arrays.copyOf(columns, n))).apply(new GenericInternalRow(n));
        }
        DateTimeUtils.fromJavaTimestamp(new Timestamp(0));
    }

    /** The metadata of a state store's checkpoint, read as from a snapshot: json4s reads Scala's own signatures for it. */
    private static void describe(Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("metadata"),
            "v1\n{\"sstFiles\":[{\"localFileName\":\"1.sst\",\"dfsSstFileName\":\"1-a.sst\",\"sizeBytes\":1}],\"numKeys\":1}");
        Class.forName("org.apache.spark.sql.execution.streaming.state.RocksDBCheckpointMetadata")
            .getMethod("readFromFile", File.class).invoke(null, file.toFile());
    }

    private static void remove(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }
}
