package rheostat;

import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;

/** Rows, counted with a checksum that does not depend on their order: the sum of their hashes. */
public final class Tally {
    long rows;
    long checksum;
    long bytes;
    long misplaced;

    void add(byte[] key, byte[] value) {
        long hash = XXH64.hashUnsafeBytes(key, Platform.BYTE_ARRAY_OFFSET, key.length, 42L);
        rows++;
        bytes += key.length + value.length;
        checksum += XXH64.hashUnsafeBytes(value, Platform.BYTE_ARRAY_OFFSET, value.length, hash);
    }
}
