package rheostat;

import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/**
 * Java agent of executors: does, before an executor's main method runs and so before any task can wait for it, what its
 * first tasks would have to do. Its argument is a folder; what is not in it is not done.
 *
 * <p>classes.txt: classes to load, never to initialise (initialisers of Spark's classes want a SparkEnv and fail for good).
 * libraries.txt: libraries below Spark that are used once, see {@link Exercise}. warm-start.log: a line for each executor, what took
 * how long.
 */
public final class WarmStart {
    private WarmStart() {}

    public static void premain(String folder, Instrumentation unused) {
        Path files = Paths.get(folder);
        StringBuilder said = new StringBuilder();
        step(said, "classes", () -> load(files.resolve("classes.txt")));
        step(said, "libraries", () -> exercise(files.resolve("libraries.txt")));
        note(files, said);
    }

    private interface Step {
        boolean run() throws Exception;
    }

    /** A step that fails is written down and left out: the executor starts all the same. */
    private static void step(StringBuilder said, String name, Step step) {
        long began = System.nanoTime();
        String how;
        try {
            how = step.run() ? "done" : "off";
        } catch (Throwable fault) {
            how = "failed (" + fault + ")";
        }
        said.append(String.format(" %s=%s %d ms", name, how, (System.nanoTime() - began) / 1_000_000));
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
                // A class that is not there any more costs nothing.
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

    private static void note(Path files, StringBuilder said) {
        try {
            String line = ProcessHandle.current().pid() + ":" + said + "\n";
            Files.writeString(files.resolve("warm-start.log"), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (Exception unwritable) {
            // Nobody reads it then.
        }
    }
}
