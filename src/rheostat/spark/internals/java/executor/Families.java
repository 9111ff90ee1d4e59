package rheostat;

import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.execution.streaming.state.ColumnFamilyInfo;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;

/** The column families of a RocksDB store: a two-byte prefix of every key; keys of a store without families have no prefix. */
public final class Families {
    private final boolean used;
    private final TreeMap ids = new TreeMap();
    /** Maps a family's number to whether it is internal; read for every row. */
    private boolean[] internal = new boolean[1];
    private int most;

    private Families(boolean used) {
        this.used = used;
    }

    static Families of(RocksDB rocks) throws Exception {
        Map known = (Map) Hidden.call(rocks, "colFamilyNameToInfoMap");
        Families families = new Families(!known.isEmpty());
        for (Iterator names = known.keySet().iterator(); names.hasNext();) {
            String name = (String) names.next();
            ColumnFamilyInfo info = (ColumnFamilyInfo) known.get(name);
            families.add(name, info.cfId(), info.isInternal());
        }
        families.most = ((AtomicInteger) Hidden.call(rocks, "maxColumnFamilyId")).get();
        return families;
    }

    static Families parsed(String text) {
        String[] lines = text.split("\n");
        Families families = new Families(lines.length > 1);
        for (int i = 1; i < lines.length; i++) {
            String[] parts = lines[i].split("\t");
            families.add(parts[2], Integer.parseInt(parts[0]), Boolean.parseBoolean(parts[1]));
        }
        families.most = Integer.parseInt(lines[0]);
        return families;
    }

    public String toString() {
        StringBuilder text = new StringBuilder().append(most);
        for (Iterator names = ids.keySet().iterator(); names.hasNext();) {
            String name = (String) names.next();
            text.append("\n").append(ids.get(name)).append("\t").append(isInternal(((Integer) ids.get(name)).intValue())).append("\t").append(name);
        }
        return text.toString();
    }

    /** Create the same families with the same numbers in a new, empty store, so that keys need no change. */
    void giveTo(RocksDB rocks) throws Exception {
        Map infos = (Map) Hidden.call(rocks, "colFamilyNameToInfoMap");
        Map names = (Map) Hidden.call(rocks, "colFamilyIdToNameMap");
        infos.clear();
        names.clear();
        for (Iterator each = ids.keySet().iterator(); each.hasNext();) {
            String name = (String) each.next();
            int id = ((Integer) ids.get(name)).intValue();
            infos.put(name, new ColumnFamilyInfo((short) id, isInternal(id)));
            names.put(new Short((short) id), name);
        }
        ((AtomicInteger) Hidden.call(rocks, "maxColumnFamilyId")).set(most);
    }

    int most() {
        return Math.max(most, 0);
    }

    /** The number of a family; 0 without families, -1 for one that the store does not have yet. */
    int id(String name) {
        return !used ? 0 : ids.containsKey(name) ? ((Integer) ids.get(name)).intValue() : -1;
    }

    int idOf(byte[] key) {
        return used ? (int) RocksDBStateStoreProvider.getColumnFamilyBytesAsId(key) : 0;
    }

    boolean isInternal(int id) {
        return id < internal.length && internal[id];
    }

    byte[] withoutPrefix(byte[] key) {
        return used ? java.util.Arrays.copyOfRange(key, 2, key.length) : key;
    }

    private void add(String name, int id, boolean isInternal) {
        ids.put(name, new Integer(id));
        if (isInternal) {
            internal = java.util.Arrays.copyOf(internal, Math.max(internal.length, id + 1));
            internal[id] = true;
        }
    }
}
