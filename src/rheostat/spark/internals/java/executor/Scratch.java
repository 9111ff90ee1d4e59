package rheostat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileAttribute;
import org.apache.spark.SparkFiles;

/** A folder on the executor's local disk, next to the files that Spark has sent to it. */
public final class Scratch {
    private final File folder;

    Scratch() throws Exception {
        Path local = Paths.get(SparkFiles.getRootDirectory(), new String[0]);
        folder = Files.createTempDirectory(local, "rheostat", new FileAttribute[0]).toFile();
    }

    File file(String name) {
        return new File(folder, name);
    }

    void delete() {
        File[] files = folder.listFiles();
        for (int i = 0; files != null && i < files.length; i++) {
            files[i].delete();
        }
        folder.delete();
    }
}
