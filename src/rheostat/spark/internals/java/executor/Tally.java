package rheostat;

import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;

/** Counts rows, with a checksum that is independent of their order: the sum of their hashes. */
public final class Tally {
    long rows;
    long checksum;
    long bytes;
    long misplaced;

    void add(byte[] key, byte[] value) {
        add(key.length + value.length, hash(key, value));
    }

    /** Count a row with a known hash. */
    void add(int size, long hash) {
        rows++;
        bytes += size;
        checksum += hash;
    }

    static long hash(byte[] key, byte[] value) {
        long hash = XXH64.hashUnsafeBytes(key, Platform.BYTE_ARRAY_OFFSET, key.length, 42L);
        return XXH64.hashUnsafeBytes(value, Platform.BYTE_ARRAY_OFFSET, value.length, hash);
    }
}
