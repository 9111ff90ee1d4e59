package rheostat;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.PriorityQueue;
import java.util.TreeMap;

/** Stores the runs of rows that a new partition receives from the old ones in files until they are merged. */
public final class Runs implements Comparator {
    /** The families of the stores; null for the HDFS-backed provider. */
    Families families;

    private final Scratch folder;
    private final TreeMap pieces = new TreeMap();
    private PriorityQueue waiting;
    private Run current;

    Runs() throws Exception {
        folder = new Scratch();
    }

    /** Add a piece; pieces arrive in any order. */
    void take(byte[] piece) throws Exception {
        ByteBuffer head = ByteBuffer.wrap(piece);
        int source = head.getInt();
        int number = head.getInt();
        if (number < 0) {
            Families parsed = Families.parsed(new String(piece, 8, piece.length - 8, "UTF-8"));
            if (families != null && !families.toString().equals(parsed.toString())) {
                throw new IllegalStateException("partition " + source + " numbers its column families differently");
            }
            families = parsed;
            return;
        }
        File file = folder.file(source + "-" + number);
        FileOutputStream output = new FileOutputStream(file);
        output.write(piece, 8, piece.length - 8);
        output.close();
        TreeMap run = (TreeMap) pieces.get(new Integer(source));
        if (run == null) {
            run = new TreeMap();
            pieces.put(new Integer(source), run);
        }
        run.put(new Integer(number), file);
    }

    /** Start to return the rows, in the order of their keys if every run is sorted. */
    void merge() throws Exception {
        waiting = new PriorityQueue(pieces.size() + 1, this);
        for (Iterator runs = pieces.values().iterator(); runs.hasNext();) {
            push(new Run(((TreeMap) runs.next()).values().iterator()));
        }
    }

    /** The run with the next row; null at the end. */
    Run next() throws Exception {
        if (current != null) {
            push(current);
        }
        current = (Run) waiting.poll();
        return current;
    }

    void discard() throws Exception {
        folder.delete();
    }

    private void push(Run run) throws Exception {
        if (run.next()) {
            waiting.add(run);
        }
    }

    public int compare(Object one, Object other) {
        return Arrays.compareUnsigned(((Run) one).key, ((Run) other).key);
    }

    /** The rows of one old partition. */
    static final class Run {
        byte[] key;
        byte[] value;
        private final Iterator files;
        private DataInputStream input;

        Run(Iterator files) {
            this.files = files;
        }

        boolean next() throws Exception {
            while (input == null || input.available() == 0) {
                if (input != null) {
                    input.close();
                }
                if (!files.hasNext()) {
                    return false;
                }
                input = new DataInputStream(new BufferedInputStream(new FileInputStream((File) files.next()), 1 << 16));
            }
            key = new byte[input.readInt()];
            input.readFully(key);
            value = new byte[input.readInt()];
            input.readFully(value);
            return true;
        }
    }
}
