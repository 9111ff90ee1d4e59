package rheostat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileAttribute;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.state.RocksDB;

/**
 * A local file system that links files instead of copying them for Spark's store: table files never change, so loading and committing a
 * version need not move their bytes.
 *
 * <p>A file that cannot be linked is copied as usual. A linked file has no checksum file, but RocksDB checks every block that it reads.
 */
public final class LinkedFiles extends FilterFileSystem {
    private LinkedFiles(FileSystem copies) {
        super(copies);
    }

    /** Make a store link its files; do nothing if its checkpoint is not local. */
    static void giveTo(RocksDB rocks) throws Exception {
        Object manager = Hidden.call(rocks, "fileManager");
        FileSystem files = (FileSystem) Hidden.call(manager, "fs");
        if (files instanceof LocalFileSystem) {
            Hidden.set(manager, "fs", new LinkedFiles(files));
        }
    }

    public void copyToLocalFile(boolean delete, Path source, Path target) throws IOException {
        try {
            Files.createSymbolicLink(file(target).toPath(), file(source).toPath().toRealPath(), new FileAttribute[0]);
        } catch (IOException cannot) {
            super.copyToLocalFile(delete, source, target);
        }
    }

    public void copyFromLocalFile(boolean delete, Path source, Path target) throws IOException {
        try {
            file(target).getParentFile().mkdirs();
            Files.createLink(file(target).toPath(), file(source).toPath());
        } catch (IOException cannot) {
            super.copyFromLocalFile(delete, source, target);
        }
    }

    private static File file(Path path) {
        return new File(path.toUri().getPath());
    }
}
