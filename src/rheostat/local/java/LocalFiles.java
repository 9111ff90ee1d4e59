package rheostat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system with the same files and checksums, but permissions are set by Java. Without Hadoop's native
 * library, which PySpark's wheel does not include, Hadoop starts the program chmod for each file and again for its checksum.
 */
public final class LocalFiles extends LocalFileSystem {
    public LocalFiles() {
        super(new Raw());
    }

    private static final class Raw extends RawLocalFileSystem {
        @Override
        public void setPermission(org.apache.hadoop.fs.Path path, FsPermission permission) throws IOException {
            Path file = pathToFile(path).toPath();
            if (permission.getStickyBit() || !file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                super.setPermission(path, permission);
            } else {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(symbols(permission)));
            }
        }

        private static String symbols(FsPermission permission) {
            FsAction owner = permission.getUserAction();
            return owner.SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
        }
    }
}
