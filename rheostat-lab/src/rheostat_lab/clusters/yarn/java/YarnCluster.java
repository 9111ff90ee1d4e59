package rheostat;

import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;

/**
 * A ResourceManager and NodeManagers in one process. Arguments: the folder for its files, the number of NodeManagers, and the MiB
 * and the cores of each. Its client configuration is in the folder conf; the file ready there says that it answers. A file lose-N
 * in the folder ends the NodeManager N (from 0) with its containers.
 */
public final class YarnCluster {
    private static final int LOOK_MS = 500;
    private static final int LIVENESS_MS = 10_000;
    private static final String CAPACITY = "yarn.scheduler.capacity.";
    private static final String MONITOR = "yarn.resourcemanager.monitor.capacity.preemption.";

    private YarnCluster() {
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        int nodes = Integer.parseInt(arguments[1]);
        MiniYARNCluster cluster = new MiniYARNCluster("yarn", 1, nodes, 1, 1);
        cluster.init(settings(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3])));
        cluster.start();
        for (int i = 0; i < 600 && cluster.getResourceManager().getResourceScheduler().getNumClusterNodes() < nodes; i++) {
            Thread.sleep(100);
        }
        write(cluster.getConfig(), folder.resolve("conf"));
        watch(cluster, folder, nodes);
    }

    private static Configuration settings(int memoryMib, int cores) {
        YarnConfiguration made = new YarnConfiguration();
        made.setInt("yarn.scheduler.minimum-allocation-mb", 128);
        made.setInt("yarn.scheduler.maximum-allocation-mb", memoryMib);
        made.setInt("yarn.nodemanager.resource.memory-mb", memoryMib);
        made.setInt("yarn.minicluster.yarn.nodemanager.resource.memory-mb", memoryMib);
        made.setInt("yarn.nodemanager.resource.cpu-vcores", cores);
        // Memory is bookkeeping here: nobody is killed for it, and no disk counts as full.
        made.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
        made.setBoolean("yarn.nodemanager.pmem-check-enabled", false);
        made.set("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99.9");
        made.setInt("yarn.nm.liveness-monitor.expiry-interval-ms", LIVENESS_MS);
        made.setInt("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", 500);
        made.setClass("yarn.resourcemanager.scheduler.class", CapacityScheduler.class, ResourceScheduler.class);
        // Containers are counted by memory and by cores.
        made.set(CAPACITY + "resource-calculator", "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
        made.set(CAPACITY + "maximum-am-resource-percent", "0.5");
        made.set(CAPACITY + "root.queues", "default,urgent");
        made.set(CAPACITY + "root.default.capacity", "60");
        made.set(CAPACITY + "root.default.maximum-capacity", "100");
        made.set(CAPACITY + "root.default.user-limit-factor", "10");
        made.set(CAPACITY + "root.urgent.capacity", "40");
        made.set(CAPACITY + "root.urgent.maximum-capacity", "100");
        made.set(CAPACITY + "root.urgent.user-limit-factor", "10");
        made.setBoolean("yarn.resourcemanager.scheduler.monitor.enable", true);
        made.setInt(MONITOR + "monitoring_interval", 1000);
        made.setInt(MONITOR + "max_wait_before_kill", 2000);
        made.set(MONITOR + "total_preemption_per_round", "1.0");
        made.set(MONITOR + "natural_termination_factor", "1.0");
        return made;
    }

    private static void write(Configuration made, Path folder) throws IOException {
        Files.createDirectories(folder);
        YarnConfiguration client = new YarnConfiguration(made);
        client.set("fs.defaultFS", "file:///");
        client.set("yarn.application.classpath", "");
        try (Writer writer = Files.newBufferedWriter(folder.resolve("yarn-site.xml"))) {
            client.writeXml(writer);
        }
        Files.writeString(folder.resolve("core-site.xml"),
            "<configuration><property><name>fs.defaultFS</name><value>file:///</value></property></configuration>\n");
        Path partial = folder.resolve("ready.partial");
        Files.writeString(partial, client.get("yarn.resourcemanager.address") + "\n");
        Files.move(partial, folder.resolve("ready"), StandardCopyOption.ATOMIC_MOVE);
    }

    private static void watch(MiniYARNCluster cluster, Path folder, int nodes) throws InterruptedException {
        boolean[] lost = new boolean[nodes];
        while (true) {
            for (int node = 0; node < nodes; node++) {
                File asked = folder.resolve("lose-" + node).toFile();
                if (!lost[node] && asked.exists()) {
                    lost[node] = true;
                    cluster.getNodeManager(node).stop();
                }
            }
            Thread.sleep(LOOK_MS);
        }
    }
}
