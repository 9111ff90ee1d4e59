import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** An HDFS of one node in one process, in the folder of its argument; the file uri there says where, once it answers. */
public final class MiniDfs {
    private MiniDfs() {
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Configuration made = new Configuration();
        made.set("hdfs.minidfs.basedir", folder.resolve("dfs").toString());
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(made).numDataNodes(1).build();
        cluster.waitActive();
        Path partial = folder.resolve("uri.partial");
        Files.writeString(partial, cluster.getURI().toString());
        Files.move(partial, folder.resolve("uri"), StandardCopyOption.ATOMIC_MOVE);
        Thread.sleep(Long.MAX_VALUE);
    }
}
