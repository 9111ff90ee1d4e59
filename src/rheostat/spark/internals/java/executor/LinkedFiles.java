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
 * A file system of this computer that links files where Spark's store would copy them: table files never change, so neither loading nor
 * committing a version needs to move their bytes.
 *
 * <p>What cannot be linked is copied, as without it. A linked file has no checksum file beside it: RocksDB checks every block it reads.
 */
public final class LinkedFiles extends FilterFileSystem {
    private LinkedFiles(FileSystem copies) {
        super(copies);
    }

    /** Let a store link its files; nothing where its checkpoint is not on this computer. */
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
