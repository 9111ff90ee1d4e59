package rheostat;

import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/**
 * Java agent of executors: does the work that the first tasks would have to do before an executor's main method runs, so that no task waits
 * for it. Its argument is a folder; steps without their file are skipped.
 *
 * <p>classes.txt: classes to load, never to initialise (initialisers of Spark's classes need a SparkEnv and fail permanently).
 * libraries.txt: libraries below Spark that are used once, see {@link Exercise}. warm-start.log: one line per executor with the duration of
 * each step.
 */
public final class WarmStart {
    private WarmStart() {}

    public static void premain(String folder, Instrumentation unused) {
        Path files = Paths.get(folder);
        StringBuilder report = new StringBuilder();
        step(report, "classes", () -> load(files.resolve("classes.txt")));
        step(report, "libraries", () -> exercise(files.resolve("libraries.txt")));
        note(files, report);
    }

    private interface Step {
        boolean run() throws Exception;
    }

    /** A failing step is logged and skipped: the executor starts nevertheless. */
    private static void step(StringBuilder report, String name, Step step) {
        long began = System.nanoTime();
        String how;
        try {
            how = step.run() ? "done" : "off";
        } catch (Throwable fault) {
            how = "failed (" + fault + ")";
        }
        report.append(String.format(" %s=%s %d ms", name, how, (System.nanoTime() - began) / 1_000_000));
    }

    private static boolean load(Path list) throws Exception {
        if (!Files.exists(list)) {
            return false;
        }
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        for (String name : Files.readAllLines(list)) {
            try {
                Class.forName(name, false, loader);
            } catch (Throwable missing) {
                // A class that no longer exists is skipped.
            }
        }
        return true;
    }

    private static boolean exercise(Path wanted) throws Exception {
        if (!Files.exists(wanted)) {
            return false;
        }
        String failed = Exercise.run(Files.readAllLines(wanted));
        if (!failed.isEmpty()) {
            throw new IllegalStateException(failed);
        }
        return true;
    }

    private static void note(Path files, StringBuilder report) {
        try {
            String line = ProcessHandle.current().pid() + ":" + report + "\n";
            Files.writeString(files.resolve("warm-start.log"), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (Exception unwritable) {
            // The log is optional.
        }
    }
}
